package loadstone.ssj.company;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Money is whole cents; rates are ten-thousandths. */
final class Money {
    private static final long ONE = 10_000;

    private Money() {}

    /** A sum after a discount and a tax, rounded once, to the even cent if it lies between two. */
    static long priced(long cents, int discount, int tax) {
        return BigDecimal.valueOf(cents)
                .multiply(BigDecimal.valueOf(ONE - discount))
                .multiply(BigDecimal.valueOf(ONE + tax))
                .movePointLeft(8)
                .setScale(0, RoundingMode.HALF_EVEN)
                .longValueExact();
    }

    /** The mean of {@code count} amounts, rounded to the even cent. */
    static long mean(long cents, int count) {
        return BigDecimal.valueOf(cents)
                .divide(BigDecimal.valueOf(count), 0, RoundingMode.HALF_EVEN)
                .longValueExact();
    }
}
