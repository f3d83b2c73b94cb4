"""Asks an OpenAI-compatible endpoint a question, on whichever endpoint the router decides: ask.py BASE_URL QUESTION."""
# ruff: noqa: INP001, S310, T201 - a script that prints, and opens a URL of your own

import json
import os
import sys
import urllib.request
from typing import Any

from router_service_client import RouterClient, Try


def main(base_url: str, question: str) -> None:
    """Decides, asks, falls back, reports."""
    body = {"messages": [{"role": "user", "content": question}], "max_tokens": 400}

    def call(attempt: Try) -> dict[str, Any]:
        request = urllib.request.Request(  # in earnest: a base URL and a key for each attempt.endpoint_id
            f"{base_url}/chat/completions",
            json.dumps({**body, "model": attempt.candidate.model}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('API_KEY', '')}"},
        )
        with urllib.request.urlopen(request, timeout=attempt.timeout) as response:  # raises; run knows what it means
            answer: dict[str, Any] = json.load(response)
        usage = answer.get("usage", {})
        attempt.tell(input_tokens=usage.get("prompt_tokens"), output_tokens=usage.get("completion_tokens"))
        return answer

    def accept(answer: dict[str, Any]) -> str:
        return "" if answer.get("choices") else "no choices"

    with RouterClient(os.environ.get("ROUTER", "127.0.0.1:50051")) as router:
        run = router.run(None, call, accept=accept, model="auto", deadline_ms=20_000, replayable=True)
        print(run.answer()["choices"][0]["message"]["content"])
        print(f"answered by {run.attempts[-1].endpoint_id} at attempt {len(run.attempts)}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) == 3 else sys.exit(__doc__)
