import { expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import { openLibrary } from "./library.ts";

const library = await openLibrary();

const MANY = 16;
/** Cells of a row: reading them takes long compared with the upload. */
const CELLS = 100_000;
/** Files that may have been started before the file of the other organization. */
const MAX_STARTED_BEFORE = 4;

test("an organization with one file does not wait for the many files of another", async () => {
  const few = library.as((await library.platform.organization("Few")).api_key);
  const sent = await Promise.all(
    Array.from({ length: MANY }, (_, n) =>
      library.extract({ content: `${"a,".repeat(CELLS)}${n}\n`, name: `${n}.csv` }),
    ),
  );
  const { id } = (await few.extract({ content: "The only one.", name: "one.md" })).body;
  expect((await few.extracted(id)).status).toBe("ready");
  for (const { body } of sent) expect((await library.extracted(body.id)).status).toBe("ready");

  const events = await library.platform.resources.db.query<{ type: string; stream: string }>(
    "select type, stream from log.events where type in ('ExtractionRequested', 'ExtractionStarted') order by position",
    [],
  );
  const positionOf = (type: string) =>
    events.findIndex((event) => event.type === type && event.stream === streamName("extraction", id));
  const between = events.slice(positionOf("ExtractionRequested"), positionOf("ExtractionStarted"));
  expect(between.filter(({ type }) => type === "ExtractionStarted").length).toBeLessThanOrEqual(MAX_STARTED_BEFORE);
});
