import pino from "pino";
import { rebuild as build } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import type { Db, Projection } from "#projections/projection.ts";
import { withDatabase, withSealed } from "../connect.ts";
import { lostShown, lostTexts, RESTORE } from "../doctor/texts.ts";
import { print, printJson } from "../output.ts";
import { Problem } from "../problem.ts";
import { progress } from "../progress.ts";
import { rebuildPassages } from "./passages.ts";

const PASSAGES = "passages";

function chosen(name: string | undefined, all: boolean | undefined): Projection[] {
  const names = [...projections.map((projection) => projection.name), PASSAGES].join(", ");
  if (all && name === undefined) return projections;
  const found = projections.filter((projection) => projection.name === name);
  if (found.length === 0 || all)
    throw new Problem("It is not said which read model to rebuild", `name one of ${names}, or give --all`);
  return found;
}

/** The passage index is filled by the running service, beside the one that serves. */
function rebuildIndex(options: { json?: boolean }): Promise<void> {
  return withDatabase(async ({ db, settings }) => {
    const shown = progress(`Rebuilding ${PASSAGES}`, "events");
    const { index_id, position, serves } = await rebuildPassages(db, shown.show).finally(shown.end);
    if (!serves) throw await poorer(db, settings.DATA_DIR);
    if (options.json) return printJson({ rebuilt: [{ name: PASSAGES, position, index_id }] });
    print(`${PASSAGES} was rebuilt and serves from position ${position}, as ${index_id}.`);
  });
}

async function poorer(db: Db, folder: string): Promise<Problem> {
  const { gone } = await lostTexts(db, folder);
  const what = "A new index would not find all that search finds now, so the one that was there goes on serving";
  if (gone.length === 0) return new Problem(what, "what the services process logs names each document");
  return new Problem(`${what}. ${lostShown(gone)}`, RESTORE);
}

/** Builds read models anew beside the serving ones and swaps them in, one after the other. */
export async function rebuild(name: string | undefined, options: { all?: boolean; json?: boolean }): Promise<void> {
  if (name === PASSAGES && !options.all) return rebuildIndex(options);
  const wanted = chosen(name, options.all);
  await withSealed(async ({ pool, log, db }) => {
    const logger = pino({ level: "silent" });
    const rebuilt = [];
    for (const projection of wanted) {
      const shown = progress(`Rebuilding ${projection.name}`, "events");
      const onProgress = ({ position, head }: { position: number; head: number }) => shown.show(position, head);
      const { position } = await build({ pool, log, projection, logger, onProgress }).finally(shown.end);
      const [{ parked }] = (await db.query<{ parked: number }>(
        "select count(*) as parked from log.parked where projection = $1",
        [projection.name],
      )) as [{ parked: number }];
      rebuilt.push({ name: projection.name, position, parked });
      const left = parked > 0 ? `; ${parked} parked streams, see svc projections status` : "";
      if (!options.json) print(`${projection.name} was rebuilt and serves from position ${position}${left}.`);
    }
    if (options.json) printJson({ rebuilt });
  });
}
