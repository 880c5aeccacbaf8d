import fastify from "fastify";
import { afterEach, expect, test } from "vitest";
import type { App } from "./app.ts";
import { readBodies } from "./parseBodies.ts";

const app = fastify() as unknown as App;
readBodies(app);
app.post("/", ({ body }) => ({ body: body ?? "none" }));
afterEach(() => app.close());

test("a content type without a body is ignored; with a body it must be JSON", async () => {
  const send = async (type: string, payload: string) => {
    const { statusCode, body } = await app.inject({
      method: "POST",
      url: "/",
      headers: { "content-type": type, "content-length": String(payload.length) },
      payload,
    });
    return [statusCode, JSON.parse(body).body];
  };
  for (const type of ["application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "no type at all"])
    expect(await send(type, ""), type).toEqual([200, "none"]);
  expect(await send("application/json; charset=utf-8", '{"a":1}')).toEqual([200, { a: 1 }]);
  expect(await send("application/x-www-form-urlencoded", "a=1")).toEqual([415, undefined]);
});
