// Asks an OpenAI-compatible endpoint a question, on whichever endpoint the router decides: ask.ts BASE_URL QUESTION.

import { CallFailed, RouterClient, type Try, seenOfResponse } from "@router-service/client";

interface Completion {
  choices?: { message: { content: string } }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number };
}

const [baseUrl, question] = process.argv.slice(2);
if (question === undefined) throw new Error("give two arguments: ask.ts BASE_URL QUESTION");
const body = { messages: [{ role: "user", content: question }], max_tokens: 400 };

async function call(attempt: Try): Promise<Completion> {
  // In earnest: a base URL and a key for each attempt.endpointId.
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env["API_KEY"] ?? ""}` },
    body: JSON.stringify({ ...body, model: attempt.candidate.model }),
    signal: attempt.signal,
  });
  if (!response.ok) throw new CallFailed(await seenOfResponse(response));
  const answer = (await response.json()) as Completion; // what these throw, run knows what it means
  attempt.tell({ inputTokens: answer.usage?.prompt_tokens, outputTokens: answer.usage?.completion_tokens });
  return answer;
}

const router = new RouterClient(process.env["ROUTER"]);
try {
  const accept = ({ choices = [] }: Completion) => (choices.length > 0 ? "" : "no choices");
  const run = await router.run({ model: "auto", deadlineMs: 20_000 }, call, { accept, replayable: true });
  console.log(run.answer().choices?.[0]?.message.content);
  console.error(`answered by ${run.attempts.at(-1)?.endpointId} at attempt ${run.attempts.length}`);
} finally {
  await router.close();
}
