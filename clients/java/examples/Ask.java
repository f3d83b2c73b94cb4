// Asks an OpenAI-compatible endpoint a question, on whichever the router decides.
import com.google.gson.*;
import example.routerservice.client.*;
import example.routerservice.v1.*;
import java.net.URI;
import java.net.http.*;
import java.util.*;

class Ask { // Ask BASE_URL QUESTION
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 2) throw new IllegalArgumentException("Ask BASE_URL QUESTION");
    System.setProperty("jdk.httpclient.disableRetryConnect", ""); // run tries again, nobody else
    var http = HttpClient.newHttpClient();
    var env = System.getenv();
    Call<JsonObject> call =
        attempt -> {
          var message = Map.of("role", "user", "content", arguments[1]);
          var body = Map.of("model", attempt.candidate().getModel(), "messages", List.of(message));
          var request = // in earnest: a base URL and a key for each attempt.endpointId()
              HttpRequest.newBuilder(URI.create(arguments[0] + "/chat/completions"))
                  .header("Authorization", "Bearer " + env.getOrDefault("API_KEY", ""))
                  .POST(HttpRequest.BodyPublishers.ofString(new Gson().toJson(body)));
          var asked = http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
          var response = attempt.await(asked); // throws; run knows what that means
          if (response.statusCode() != 200) throw CallFailedException.http(response);
          return JsonParser.parseString(response.body()).getAsJsonObject();
        };
    var route = RouteRequest.newBuilder().setModel("auto").setDeadlineMs(20_000);
    var options = RunOptions.<JsonObject>accepting(it -> it.has("choices") ? "" : "no choices");
    try (var router = RouterClient.connect(env.getOrDefault("ROUTER", "127.0.0.1:50051"))) {
      var request = DecideRequest.newBuilder().setRequest(route).build();
      var run = router.run(request, call, options.replayable(true));
      var choice = run.answer().getAsJsonArray("choices").get(0).getAsJsonObject();
      System.out.println(choice.getAsJsonObject("message").get("content").getAsString());
      System.err.println("answered at attempt " + run.attempts().size());
    }
  }
}
