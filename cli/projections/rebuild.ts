import pino from "pino";
import { rebuild as build } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import type { Db, Projection } from "#projections/projection.ts";
import { withDatabase, withLogAccess } from "../connect.ts";
import { describeMissingTexts, findMissingTexts, RESTORE_TEXTS } from "../doctor/missingTexts.ts";
import { print, printJson } from "../output.ts";
import { CliError } from "../cliError.ts";
import { showProgress } from "../progress.ts";
import { rebuildPassages } from "./passages.ts";

const PASSAGES = "passages";

function selectProjections(name: string | undefined, all: boolean | undefined): Projection[] {
  const names = [...projections.map((projection) => projection.name), PASSAGES].join(", ");
  if (all && name === undefined) return projections;
  const found = projections.filter((projection) => projection.name === name);
  if (found.length === 0 || all)
    throw new CliError("No read model to rebuild was selected", `name one of ${names}, or use --all`);
  return found;
}

/** The running service fills the new passage index while the current one serves. */
function rebuildIndex(options: { json?: boolean }): Promise<void> {
  return withDatabase(async ({ db, settings }) => {
    const progressBar = showProgress(`Rebuilding ${PASSAGES}`, "events");
    const { index_id, position, serves } = await rebuildPassages(db, progressBar.show).finally(progressBar.end);
    if (!serves) throw await describeFailure(db, settings.DATA_DIR);
    if (options.json) return printJson({ rebuilt: [{ name: PASSAGES, position, index_id }] });
    print(`${PASSAGES} was rebuilt and serves from position ${position}, as ${index_id}.`);
  });
}

async function describeFailure(db: Db, folder: string): Promise<CliError> {
  const { missing } = await findMissingTexts(db, folder);
  const what = "The new index lacks documents that search finds now, so the current index keeps serving";
  if (missing.length === 0) return new CliError(what, "the log of the services process names each document");
  return new CliError(`${what}. ${describeMissingTexts(missing)}`, RESTORE_TEXTS);
}

/** Rebuilds read models one after the other while the current ones serve, and swaps them in. */
export async function rebuild(name: string | undefined, options: { all?: boolean; json?: boolean }): Promise<void> {
  if (name === PASSAGES && !options.all) return rebuildIndex(options);
  const selected = selectProjections(name, options.all);
  await withLogAccess(async ({ pool, log, db }) => {
    const logger = pino({ level: "silent" });
    const rebuilt = [];
    for (const projection of selected) {
      const progressBar = showProgress(`Rebuilding ${projection.name}`, "events");
      const onProgress = ({ position, head }: { position: number; head: number }) => progressBar.show(position, head);
      const { position } = await build({ pool, log, projection, logger, onProgress }).finally(progressBar.end);
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
