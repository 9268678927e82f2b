package loadstone.ssj;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A connection that carries lines of text in both ways. One thread may read while another writes. */
final class Lines implements Closeable {
    private static final int LONGEST_BYTES = 16 << 20;

    private final SocketChannel channel;
    private final ByteBuffer incoming = ByteBuffer.allocate(1 << 16).flip();

    Lines(SocketChannel channel) {
        this.channel = channel;
    }

    /**
     * Waits for the next line.
     *
     * @return it, without its end; null when the other side sends no more
     * @throws IOException if the connection is broken, or a line is too long
     */
    String read() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (line.size() < LONGEST_BYTES) {
            while (incoming.hasRemaining()) {
                byte next = incoming.get();
                if (next == '\n') {
                    return line.toString(StandardCharsets.UTF_8);
                }
                line.write(next);
            }
            incoming.clear();
            int count = channel.read(incoming);
            incoming.flip();
            if (count < 0) {
                return line.size() > 0 ? line.toString(StandardCharsets.UTF_8) : null;
            }
        }
        throw new IOException("a line is longer than " + LONGEST_BYTES + " bytes");
    }

    /** Writes a line. */
    void write(String line) throws IOException {
        ByteBuffer outgoing = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (outgoing.hasRemaining()) {
            channel.write(outgoing);
        }
    }

    /** Tells the other side that no further line comes. */
    void endOutput() throws IOException {
        channel.shutdownOutput();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
