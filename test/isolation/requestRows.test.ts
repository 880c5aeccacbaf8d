import { expect, test } from "vitest";
import { createRequestRows, type Outcome } from "./requestRows.ts";

test("a request that an attack delays counts in full for that attack, and not for the next one", async () => {
  let clock = 0;
  const rows = createRequestRows(() => clock);
  const upload = Promise.withResolvers<Outcome>();
  const uploaded = rows.act("upload", () => upload.promise);
  clock = 4_000;
  const first = rows.end();
  const turned = rows.act("turn", async () => [false, 503]);
  clock = 4_350;
  upload.resolve([true, 202]);
  await uploaded;
  expect(await first).toEqual({ times: { turn: [], search: [], upload: [4_350], run: [] }, failures: [] });
  await turned;
  expect(await rows.end()).toEqual({ times: { turn: [0], search: [], upload: [], run: [] }, failures: ["turn 503"] });
});
