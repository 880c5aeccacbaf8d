import { expect, test } from "vitest";
import { eventCheckRoute } from "./eventCheck.ts";

type Handler = (request: object) => Promise<unknown>;

test("a check of events waits for a place among the long reads of its organization", async () => {
  let answer: Handler | undefined;
  const app = { get: (_path: string, _options: object, handler: Handler) => void (answer = handler) };
  const done: string[] = [];
  const checkChain = async () => {
    done.push("checked");
    return { events: [], broken: undefined };
  };
  eventCheckRoute(app as never, { checkChain } as never);
  const acquireLongRead = async () => void done.push("has its turn");
  const request = { caller: { organization_id: "o" }, query: {}, acquireLongRead };
  expect(await answer!(request)).toEqual({ checked: 0, digests: [], broken: null, next_after: null });
  expect(done).toEqual(["has its turn", "checked"]);
});
