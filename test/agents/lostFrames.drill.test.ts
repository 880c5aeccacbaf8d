import { expect, test } from "vitest";
import { REGENERATED_MESSAGE } from "#http/agents/responseStream.ts";
import { startTwoHttp } from "./deployment.ts";
import { expectNumbered } from "./grammar.ts";

/* The bus loses the words of a response together with the worker that generated them. Another worker generates words again. */

const { processes, agent, elsewhere } = await startTwoHttp();
const INPUT = `/slow 0.5\n/say one two three ${"and more ".repeat(15)}`;
const WORDS = "response.output_text.delta";
const countWords = (events: any[]): number => events.filter(({ type }) => type === WORDS).length;

test("a stream with the lost words ends as failed, and a stream with the new words continues", async () => {
  const lost = await agent.some("/responses", { input: INPUT, stream: true }, (seen) => countWords(seen) >= 8);
  const { id } = lost[0].response;
  processes.worker.kill();
  await processes.purgeFrames();
  const ended = elsewhere.resume(id, lost.length - 1);
  const path = `/responses/${id}?stream=true`;
  const fromStart = agent.some(path, undefined, (seen) => countWords(seen) >= 3);
  await processes.start("services");

  const last = (await ended).at(-1);
  expect([last.type, last.response.error.message]).toEqual(["response.failed", REGENERATED_MESSAGE]);

  const first = await fromStart;
  const rest = await elsewhere.resume(id, first.length - 1);
  expectNumbered(rest, first.length);
  expect(rest.at(-1).type).toBe("response.completed");
  expect([...first, ...rest]).toEqual(await agent.resume(id));
});
