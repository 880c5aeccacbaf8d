import { expect, test } from "vitest";
import { startService } from "./service.ts";

/** Sign-ins with a wrong password, forwarded by a proxy for different clients. */
async function startGuessing(env: Record<string, string>) {
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

test("clients behind a trusted proxy are throttled separately", async () => {
  const attempts = await startGuessing({ TRUST_PROXY: "127.0.0.1" });
  expect(await attempts(60)).toEqual(new Set([401]));
});

test("clients behind an untrusted proxy are throttled together", async () => {
  const attempts = await startGuessing({});
  expect(await attempts(50)).toEqual(new Set([401]));
  expect(await attempts(5)).toEqual(new Set([429]));
});
