import { streamOf } from "#events/ids.ts";
import type { Blobs, EventLog, Keyring } from "#events/ports.ts";
import { secretStream } from "#events/secret.ts";
import type { Settings } from "#infra/config.ts";
import { download } from "#infra/web/download.ts";
import { guardedFetch } from "#infra/web/guardedFetch.ts";
import { findTools } from "#projections/definitions/query.ts";
import type { Db } from "#projections/projection.ts";
import type { ScriptRunner } from "#services/scripting/runner.ts";
import { secretValue } from "#services/secretValue.ts";
import type { Scripts } from "#services/turns/tools/scripted.ts";

/** Largest answer that a script gets: it is copied some times on its way into a VM of 64 MiB. In bytes. */
const MOST = 2 * 1024 * 1024;

interface OwnScriptsDeps {
  settings: Pick<Settings, "PRIVATE_FETCH_HOSTS" | "SCRIPTED_TOOLS">;
  db: Db;
  log: Pick<EventLog, "heads" | "read">;
  blobs: Pick<Blobs, "get">;
  keyring: Pick<Keyring, "open" | "openSecret">;
  runner: ScriptRunner;
}

/** An organization's own tools and what they may reach. */
export function openOwnScripts({ settings, db, log, blobs, keyring, runner }: OwnScriptsDeps): Scripts {
  const fetch = guardedFetch({ privateHosts: settings.PRIVATE_FETCH_HOSTS, webOnly: true });
  return {
    run: runner.run,

    async find(organization, names) {
      if (!settings.SCRIPTED_TOOLS) return [];
      const rows = await findTools(db, organization, names);
      const found = rows.map(async ({ id, name, version, meta, grants, blob, wrapped_key }) => {
        const sealed = await blobs.get(blob);
        if (!sealed) return [];
        const { js } = JSON.parse(keyring.open(streamOf("definition", id), wrapped_key, sealed).toString());
        return [{ name, version, meta, grants, js: js as string }];
      });
      return (await Promise.all(found)).flat();
    },

    /** Read fresh, so that one that was removed is gone at once. */
    async secret(organization, name) {
      const stream = secretStream(organization, name);
      return secretValue({ log, keyring }, organization, name, (await log.heads([stream])).get(stream));
    },

    async fetch(url, init, signal) {
      const { status, headers, bytes } = await download(fetch, url, init, signal, { most: MOST });
      return { status, headers, text: bytes.toString("utf8") };
    },
  };
}
