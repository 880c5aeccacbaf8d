import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import type { App } from "./app.ts";
import { limitLongReads } from "./longReads.ts";

/** A server whose every request reads much, until the test lets it answer. */
function serve() {
  const app = fastify() as unknown as App;
  onTestFinished(() => app.close());
  const reading: { name: string; answer: () => void }[] = [];
  limitLongReads(app, { longReads: createFairSemaphore({ total: 3, perTenant: 2 }) });
  app.decorateRequest("caller", null as never);
  app.addHook("onRequest", (request, _reply, done) => {
    request.caller = { organization_id: (request.query as { of: string }).of } as never;
    done();
  });
  app.get("/:name", async (request) => {
    await request.readsMuch();
    await request.readsMuch();
    const { name } = request.params as { name: string };
    await new Promise<void>((answer) => reading.push({ name, answer }));
    return name;
  });
  const settle = async () => {
    for (let n = 0; n < 10; n++) await new Promise(setImmediate);
    return reading.map(({ name }) => name);
  };
  const ask = (of: string, name: string) => app.inject(`/${name}?of=${of}`);
  return {
    ask,
    settle,
    answer: (name: string) =>
      reading
        .splice(0)
        .find((one) => one.name === name)!
        .answer(),
  };
}

test("an organization has two long reads at a time, and another one does not wait for them", async () => {
  const { ask, settle, answer } = serve();
  const first = ask("a", "a1").then(({ body }) => body);
  for (const name of ["a2", "a3", "a4"]) void ask("a", name).then(() => {});
  void ask("b", "b1").then(() => {});
  expect((await settle()).toSorted()).toEqual(["a1", "a2", "b1"]);
  answer("a1");
  expect(await first).toBe("a1");
  expect(await settle()).toEqual(["a3"]);
});
