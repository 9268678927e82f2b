package loadstone.ssj;

/** A plan, an option or a question that makes no sense: what is wrong with which field. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(String field, String problem) {
        super(field + ": " + problem);
    }
}
