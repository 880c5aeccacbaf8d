import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import type { SchemaChecker } from "#events/schemaChecker.ts";
import type { Keyring, Vault } from "#events/vault.ts";
import { secretStream } from "#events/secret.ts";
import type { Settings } from "#infra/config.ts";
import { download } from "#infra/web/download.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { findTools } from "#projections/definitions/query.ts";
import { hasScriptedTools } from "#projections/organizations/query.ts";
import type { Db } from "#projections/projection.ts";
import type { ScriptRunner } from "#services/scripting/runner.ts";
import { run } from "#services/deciders/run.ts";
import { isLive } from "#services/deciders/runState.ts";
import { findHead, findState } from "#services/states.ts";
import { readSecretValue } from "#services/readSecretValue.ts";
import type { ScriptedTools } from "#services/turns/tools/scripted.ts";

/** Maximum bytes of a fetch's response: it is copied several times on its way into a VM of 64 MiB. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

interface ScriptedToolsDeps {
  settings: Pick<Settings, "PRIVATE_FETCH_HOSTS" | "SCRIPTED_TOOLS">;
  db: Db;
  log: Pick<EventLog, "heads" | "read">;
  vault: Pick<Vault, "get">;
  keyring: Pick<Keyring, "openSecret">;
  runner: ScriptRunner;
  schemas: SchemaChecker;
}

/** The organizations' scripted tools, and the platform that they use. */
export function openScriptedTools({
  settings,
  db,
  log,
  vault,
  keyring,
  runner,
  schemas,
}: ScriptedToolsDeps): ScriptedTools {
  const fetch = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS, webOnly: true });
  return {
    run: runner.run,
    check: schemas.check,

    async find(organization, names) {
      if (!settings.SCRIPTED_TOOLS) return [];
      const [rows, isSwitchedOn] = await Promise.all([
        findTools(db, organization, names),
        hasScriptedTools(db, organization),
      ]);
      if (!isSwitchedOn) return [];
      const found = rows.map(async ({ id, name, version, meta, grants, blob, wrapped_key }) => {
        const script = await vault.get({ thing: streamName("definition", id), wrapped_key }, blob);
        if (!script) return [];
        const { js } = JSON.parse(script.toString());
        return [{ name, version, meta, grants, js: js as string }];
      });
      return (await Promise.all(found)).flat();
    },

    async isRunLive(run_id) {
      const stream = streamName("run", run_id);
      return isLive(await findState(log, stream, run));
    },

    /** Reads the log, so that a removed secret stops working at once. */
    async secret(organization, name) {
      const stream = secretStream(organization, name);
      return readSecretValue({ log, keyring }, organization, name, await findHead(log, stream));
    },

    async fetch(url, init, signal) {
      const { status, headers, bytes } = await download(fetch, url, init, signal, { max_bytes: MAX_ANSWER_BYTES });
      return { status, headers, text: bytes.toString("utf8") };
    },
  };
}
