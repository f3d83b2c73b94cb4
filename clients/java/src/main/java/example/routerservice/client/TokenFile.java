// A file that holds a token, read again when it was replaced or written.
package example.routerservice.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Remembers what it read until the file is another one. */
final class TokenFile {
  private final Path path;
  private @Nullable Read last;

  TokenFile(Path path) {
    this.path = path;
  }

  /** What the file was like, and what it held. */
  private record Read(@Nullable Object file, FileTime written, long size, String token) {
    boolean isOf(BasicFileAttributes now) {
      return written.equals(now.lastModifiedTime())
          && size == now.size()
          && Objects.equals(file, now.fileKey());
    }
  }

  /** The token that it holds now. */
  synchronized String read() {
    try {
      BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
      Read known = last;
      if (known == null || !known.isOf(now)) {
        String token = Files.readString(path, StandardCharsets.UTF_8).strip();
        known = new Read(now.fileKey(), now.lastModifiedTime(), now.size(), token);
        last = known;
      }
      return known.token;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
