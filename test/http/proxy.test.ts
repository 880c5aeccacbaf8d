import { expect, test } from "vitest";
import { startService } from "./service.ts";

/** Sign-ins with a password that is not right, as a proxy passes them on for clients. */
async function guesser(env: Record<string, string>) {
  const service = await startService(env);
  const attempt = async (n: number) => {
    const response = await fetch(`${service.base}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": `198.51.100.${n}` },
      body: JSON.stringify({ email: `nobody${n}@example.com`, password: "wrong" }),
    });
    return response.status;
  };
  return async (times: number) => new Set(await Promise.all(Array.from({ length: times }, (_, n) => attempt(n))));
}

test("clients behind a proxy that is believed are throttled each for itself", async () => {
  const tries = await guesser({ TRUST_PROXY: "127.0.0.1" });
  expect(await tries(60)).toEqual(new Set([401]));
});

test("a proxy that nobody named is not believed", async () => {
  const tries = await guesser({});
  expect(await tries(50)).toEqual(new Set([401]));
  expect(await tries(5)).toEqual(new Set([429]));
});
