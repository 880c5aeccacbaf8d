import { expect, test } from "vitest";
import { changeRoutes } from "./changes.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;

test("a long page of changes waits for a place among the long reads of its organization", async () => {
  let answer: Handler | undefined;
  const app = { get: (_path: string, _options: object, handler: Handler) => void (answer = handler) };
  const http = { readAuditSlice: async () => ({ events: [], more: false }), keyring: { sealNumber: () => "cursor" } };
  changeRoutes(app as never, http as never);
  const placesFor = async (limit: string): Promise<number> => {
    let places = 0;
    const acquireLongRead = async () => void places++;
    const request = { caller: { organization_id: "o" }, query: { limit }, headers: {}, acquireLongRead };
    expect(await answer!(request, {})).toEqual({ data: [], next_after: "cursor", has_more: false });
    return places;
  };
  expect([await placesFor("50"), await placesFor("51")]).toEqual([0, 1]);
});
