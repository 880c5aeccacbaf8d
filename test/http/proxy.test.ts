import { expect, test } from "vitest";
import { startService } from "./service.ts";

/** Signs in with a password that is not right, as a proxy passes it on for a client. */
async function tries(env: Record<string, string>, times: number): Promise<number[]> {
  const service = await startService(env);
  const attempt = async (n: number) => {
    const response = await fetch(`${service.base}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": `198.51.100.${n}` },
      body: JSON.stringify({ email: `nobody${n}@example.com`, password: "wrong" }),
    });
    return response.status;
  };
  return Promise.all(Array.from({ length: times }, (_, n) => attempt(n)));
}

test("clients behind a proxy that is believed are throttled each for itself", async () => {
  expect(new Set(await tries({ TRUST_PROXY: "127.0.0.1" }, 60))).toEqual(new Set([401]));
});

test("a proxy that nobody named is not believed", async () => {
  expect(new Set(await tries({}, 60))).toEqual(new Set([401, 429]));
});
