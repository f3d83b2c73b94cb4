// What holds of every run, whatever backends do.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.Attempt;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.Decision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FailoverTest {
  private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");
  private static final int RUNS = 5000;
  private static final List<Map<String, String>> HEADERS =
      List.of(
          Map.of(),
          Map.of("retry-after", "0"),
          Map.of("retry-after", "1"),
          Map.of("x-should-retry", "false"));

  private final Random random = new Random(8785);

  private <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  private Candidate candidate(int number) {
    Candidate.Builder candidate =
        Candidate.newBuilder()
            .setEndpointId(Integer.toString(number))
            .setNeedMs(random.nextInt(3001));
    if (random.nextBoolean()) {
      candidate.setContextWindow(one(List.of(4096, 8192)));
    }
    return candidate.build();
  }

  /** What a backend does: null is an answer. */
  private Seen seen() {
    return switch (random.nextInt(4)) {
      case 0 -> null;
      case 1 -> Seen.of(one(List.of(Seen.Kind.CONNECT, Seen.Kind.LOST)), "");
      case 2 -> {
        Seen.Kind kind = one(List.of(Seen.Kind.values()));
        yield kind == Seen.Kind.HTTP || kind == Seen.Kind.GRPC ? null : Seen.of(kind, "");
      }
      default -> {
        Object body =
            random.nextBoolean()
                ? null
                : Map.of("error", Map.of("code", "context_length_exceeded"));
        yield Seen.http(one(List.of(400, 401, 404, 429, 503)), one(HEADERS), body);
      }
    };
  }

  @Test
  void whatHoldsOfEveryRun() {
    int accepted = 0;
    int second = 0;
    for (int run = 0; run < RUNS; run++) {
      List<String> calls = aRun();
      accepted += calls.contains("accepted") ? 1 : 0;
      second += calls.stream().distinct().count() < calls.size() ? 1 : 0;
    }
    assertTrue(accepted > RUNS / 10 && second > RUNS / 100, accepted + " " + second);
  }

  /** One run by chance, looked at step by step; the endpoints that were called, and the outcome. */
  private List<String> aRun() {
    List<Candidate> candidates =
        IntStream.range(0, 1 + random.nextInt(3)).mapToObj(this::candidate).toList();
    Long spendable = random.nextInt(3) == 0 ? null : (long) random.nextInt(9001);
    int most = 1 + random.nextInt(3);
    boolean replayable = random.nextBoolean();
    World world = new World(NOW, random.doubles(9).boxed().toList());
    Failover failover =
        new Failover(
            Decision.getDefaultInstance(),
            candidates,
            world,
            new Failover.Terms(world.nanoTime(), spendable, most, replayable));
    List<String> calls = new ArrayList<>();
    long gone = 0;
    Seen last = null;
    Step step = failover.next();
    while (!(step instanceof Step.End)) {
      if (step instanceof Step.Wait wait) {
        assertFalse(calls.isEmpty(), "nobody waits before the first attempt");
        long millis = wait.duration().toMillis();
        assertTrue(0 < millis && millis <= 60_000);
        world.goOn(millis);
        gone += millis;
      } else if (step instanceof Step.Make make) {
        Try attempt = make.attempt();
        if (last != null) {
          assertTrue(FailureClasses.classify(last, NOW).then() != Verdict.Then.STOP);
          assertTrue(replayable || last.kind() != Seen.Kind.LOST);
        }
        if (spendable != null) {
          long allowed = attempt.timeout().orElseThrow().toMillis();
          assertTrue(attempt.candidate().getNeedMs() <= allowed && allowed <= spendable - gone);
        }
        calls.add(attempt.endpointId());
        int takes = random.nextInt(4001);
        world.goOn(takes);
        gone += takes;
        last = seen();
        if (last == null) {
          failover.answered("");
        } else {
          failover.failed(last);
        }
      }
      step = failover.next();
    }
    Outcome outcome = ((Step.End) step).outcome();
    assertTrue(calls.size() <= most);
    assertEquals(calls, failover.attempts().stream().map(Attempt::getEndpointId).toList());
    assertEquals(outcome == Outcome.ACCEPTED, !calls.isEmpty() && last == null);
    List<String> firsts = calls.stream().distinct().toList();
    assertEquals(firsts.stream().sorted().toList(), firsts, "down the list");
    calls.add(outcome.written());
    return calls;
  }

  @Test
  void aMomentThatGoesByBeforeTheCallNeverLiftsTheTimeOut() {
    // The clock goes on by a millisecond each time that it is read: in the end the need fits no
    // more.
    for (long spendable = 500; spendable < 520; spendable++) {
      World ticking =
          new World(NOW, List.of()) {
            @Override
            public synchronized long nanoTime() {
              goOn(1);
              return super.nanoTime();
            }
          };
      Candidate one = Candidate.newBuilder().setNeedMs(500).build();
      Step step =
          new Failover(
                  Decision.getDefaultInstance(),
                  List.of(one),
                  ticking,
                  new Failover.Terms(ticking.nanoTime(), spendable, 3, false))
              .next();
      assertTrue(
          step instanceof Step.End
              || ((Step.Make) step).attempt().timeout().orElseThrow().toMillis() >= 500);
    }
  }
}
