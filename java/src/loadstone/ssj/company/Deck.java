package loadstone.ssj.company;

import java.util.List;

/** Cards that are shuffled, dealt and shuffled again: the shares of operations are kept to the card. */
final class Deck {
    private final List<Integer> mix;
    private final int[] cards;
    private final Draws draws;
    private int dealt;

    /** A deck with {@code mix.get(i)} cards of operation i, at least one in all. */
    Deck(List<Integer> mix, Draws draws) {
        this.mix = List.copyOf(mix);
        this.draws = draws;
        cards = new int[mix.stream().mapToInt(Integer::intValue).sum()];
        int card = 0;
        for (int operation = 0; operation < mix.size(); operation++) {
            for (int i = 0; i < mix.get(operation); i++) {
                cards[card++] = operation;
            }
        }
        dealt = cards.length;
    }

    /** The next card. */
    int deal() {
        if (dealt == cards.length) {
            shuffle();
        }
        return cards[dealt++];
    }

    private void shuffle() {
        for (int i = cards.length - 1; i > 0; i--) {
            int other = draws.between(0, i);
            int card = cards[i];
            cards[i] = cards[other];
            cards[other] = card;
        }
        dealt = 0;
    }

    List<Integer> mix() {
        return mix;
    }
}
