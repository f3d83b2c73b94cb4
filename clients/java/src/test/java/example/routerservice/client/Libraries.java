// The libraries that a call may be made with, each without retries and with short time-outs.
package example.routerservice.client;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.BasicHttpClientConnectionManager;
import org.apache.hc.core5.util.Timeout;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.bedrockruntime.BedrockRuntimeClient;

/** A GET or POST of a URL, by each of them. */
final class Libraries {
  private static final Duration SHORT = Duration.ofMillis(200);

  private Libraries() {}

  /** A way to call a URL; its time-out of connecting, and of everything, is short. */
  interface Call {
    Object get(URI uri) throws Exception;
  }

  static Object jdk(URI uri) throws Exception {
    return HttpClient.newBuilder()
        .connectTimeout(SHORT)
        .build()
        .send(
            HttpRequest.newBuilder(uri).timeout(SHORT.multipliedBy(5)).build(),
            HttpResponse.BodyHandlers.ofString());
  }

  static Object urlConnection(URI uri) throws Exception {
    HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
    connection.setConnectTimeout((int) SHORT.toMillis());
    connection.setReadTimeout((int) SHORT.toMillis());
    connection.setRequestMethod("POST"); // a GET is tried again by the JDK
    connection.setDoOutput(true);
    return connection.getInputStream().readAllBytes();
  }

  static Object okHttp(URI uri) throws Exception {
    OkHttpClient http =
        new OkHttpClient.Builder()
            .connectTimeout(SHORT)
            .readTimeout(SHORT)
            .retryOnConnectionFailure(false)
            .build();
    try (okhttp3.Response response =
        http.newCall(new Request.Builder().url(uri.toString()).build()).execute()) {
      return response.body().bytes();
    }
  }

  static Object apache(URI uri) throws Exception {
    BasicHttpClientConnectionManager connections = new BasicHttpClientConnectionManager();
    Timeout brief = Timeout.ofMilliseconds(SHORT.toMillis());
    connections.setConnectionConfig(
        ConnectionConfig.custom().setConnectTimeout(brief).setSocketTimeout(brief).build());
    try (CloseableHttpClient http =
        HttpClients.custom()
            .setConnectionManager(connections)
            .setDefaultRequestConfig(RequestConfig.custom().setResponseTimeout(brief).build())
            .disableAutomaticRetries()
            .build()) {
      return http.execute(
          new HttpGet(uri), response -> response.getEntity().getContent().readAllBytes());
    }
  }

  static Object spring(URI uri) {
    return RestClient.builder()
        .requestFactory(new JdkClientHttpRequestFactory()) // Apache's would try again by itself
        .build()
        .get()
        .uri(uri)
        .retrieve()
        .body(String.class);
  }

  static Object springReactive(URI uri) {
    return WebClient.builder()
        .clientConnector(new JdkClientHttpConnector())
        .build()
        .get()
        .uri(uri)
        .retrieve()
        .bodyToMono(String.class)
        .block();
  }

  static Object openAi(URI uri) {
    OpenAIClient client =
        OpenAIOkHttpClient.builder()
            .baseUrl(uri.toString())
            .apiKey("key")
            .maxRetries(0)
            .timeout(SHORT.multipliedBy(5))
            .build();
    return client
        .chat()
        .completions()
        .create(ChatCompletionCreateParams.builder().model("m").addUserMessage("words").build());
  }

  static Object bedrock(URI uri) {
    try (BedrockRuntimeClient client =
        BedrockRuntimeClient.builder()
            .endpointOverride(uri)
            .region(Region.EU_CENTRAL_1)
            .credentialsProvider(AnonymousCredentialsProvider.create())
            .httpClientBuilder(
                UrlConnectionHttpClient.builder().connectionTimeout(SHORT).socketTimeout(SHORT))
            .overrideConfiguration(it -> it.retryStrategy(retries -> retries.maxAttempts(1)))
            .build()) {
      return client.invokeModel(it -> it.modelId("m").body(SdkBytes.fromUtf8String("{}")));
    }
  }
}
