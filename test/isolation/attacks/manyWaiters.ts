import { all, type Attack } from "./attack.ts";

/* Requests that are refused together. */

export const manyWaiters: Attack[] = [
  {
    title: "1,000 requests with keys that nobody has",
    run: (attacker) =>
      all(1_000, (n) =>
        attacker.send("GET", "/api/openai/v1/models", undefined, {
          headers: { authorization: `Bearer ${attacker.api_key.slice(0, -8)}${String(n).padStart(8, "x")}` },
        }),
      ),
  },
];
