package loadstone.ssj;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.Deflater;

import loadstone.ssj.company.Operation;

import org.HdrHistogram.AbstractHistogram;

/**
 * Writes frames: one JSON object a line. What cannot be written any more is remembered, not thrown.
 *
 * <p>Histograms are compressed here: the library's own way keeps a buffer in each of them, so that the heap would
 * grow while a run is measured.
 */
final class Frames {
    /** Of the compressed format V2, with words of one byte (AbstractHistogram.V2CompressedEncodingCookieBase). */
    private static final int COMPRESSED_COOKIE = 0x1c849304 | 0x10;

    private static final int HEADER_BYTES = 8;

    private final Lines lines;
    private final ByteBuffer plain = ByteBuffer.allocate(Tally.mostEncodedBytes());
    private final byte[] part = new byte[1 << 13];
    private boolean broken;

    Frames(Lines lines) {
        this.lines = lines;
    }

    /** Whether nobody reads the frames any more. */
    boolean isBroken() {
        return broken;
    }

    /** A frame to be filled and written. */
    static Map<String, Object> frame(String kind, double timeS) {
        Map<String, Object> frame = new LinkedHashMap<>();
        frame.put("frame", kind);
        frame.put("t_s", timeS);
        return frame;
    }

    void write(Map<String, Object> frame) {
        if (broken) {
            return;
        }
        try {
            lines.write(Json.write(frame));
        } catch (IOException gone) {
            broken = true;
        }
    }

    /** What a tick says of the operations. */
    Map<String, Object> operations(Tally tally) {
        Map<String, Object> found = new LinkedHashMap<>();
        for (Operation operation : Operation.values()) {
            int number = operation.ordinal();
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("count", tally.counts[number]);
            told.put("rolled_back", 0);
            told.put("errors", tally.errors.getOrDefault(number, Map.of()));
            told.put("retries", Map.of());
            addHistogram(told, "response", tally.response[number]);
            addHistogram(told, "service", tally.service[number]);
            found.put(operation.label(), told);
        }
        return found;
    }

    /** Adds a histogram, in HdrHistogram's V2 format, deflated, as base64; none if it is empty. */
    void addHistogram(Map<String, Object> frame, String name, AbstractHistogram histogram) {
        if (histogram.getTotalCount() > 0) {
            frame.put(name, Base64.getEncoder().encodeToString(encode(histogram)));
        }
    }

    private byte[] encode(AbstractHistogram histogram) {
        plain.clear();
        int length = histogram.encodeIntoByteBuffer(plain);
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        Deflater deflater = new Deflater();
        deflater.setInput(plain.array(), 0, length);
        deflater.finish();
        while (!deflater.finished()) {
            compressed.write(part, 0, deflater.deflate(part));
        }
        deflater.end();
        ByteBuffer encoded = ByteBuffer.allocate(HEADER_BYTES + compressed.size());
        encoded.putInt(COMPRESSED_COOKIE).putInt(compressed.size()).put(compressed.toByteArray());
        return encoded.array();
    }
}
