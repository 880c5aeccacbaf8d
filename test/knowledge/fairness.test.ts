import { beforeAll, expect, test } from "vitest";
import { streamOf } from "#events/ids.ts";
import { openLibrary, type Library } from "./library.ts";

let library: Library;
beforeAll(async () => {
  library = await openLibrary();
});

const MANY = 16;
/** A row that takes long to be read, beside the time that its upload takes. */
const CELLS = 100_000;
/** Files under way, and taken already, when another organization's comes. */
const TAKEN = 4;

test("an organization with one file does not wait for another's many", async () => {
  const few = library.as((await library.platform.organization("Few")).api_key);
  const sent = await Promise.all(
    Array.from({ length: MANY }, (_, n) =>
      library.extract({ content: `${"a,".repeat(CELLS)}${n}\n`, name: `${n}.csv` }),
    ),
  );
  const { id } = (await few.extract({ content: "The only one.", name: "one.md" })).body;
  expect((await few.extracted(id)).status).toBe("ready");
  for (const { body } of sent) expect((await library.extracted(body.id)).status).toBe("ready");

  const events = await library.platform.opened.db.query<{ type: string; stream: string }>(
    "select type, stream from log.events where type in ('ExtractionRequested', 'ExtractionStarted') order by position",
    [],
  );
  const its = (type: string) =>
    events.findIndex((event) => event.type === type && event.stream === streamOf("extraction", id));
  const between = events.slice(its("ExtractionRequested"), its("ExtractionStarted"));
  expect(between.filter(({ type }) => type === "ExtractionStarted").length).toBeLessThanOrEqual(TAKEN);
}, 120_000);
