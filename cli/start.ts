import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSettings, type Settings } from "#infra/config.ts";
import { startServices } from "#infra/embedded/index.ts";
import { masterKey } from "#infra/masterKey.ts";
import { createPassed } from "#projections/passed.ts";
import { projections } from "#projections/index.ts";
import type { Opened } from "../roles/open.ts";
import { roles, runRoles, type Role } from "../roles/run.ts";
import { createOrganization, type Credentials } from "./organization.ts";
import { readJsonFile, table } from "./output.ts";

const line = (text: string): void => void process.stderr.write(`${text}\n`);

/** The first organization's credentials: those in the data folder, else of an organization made now. */
async function firstCredentials(settings: Settings, opened: Opened): Promise<Credentials> {
  const path = join(settings.DATA_DIR, "credentials.json");
  if (existsSync(path)) return readJsonFile<Credentials>(path);
  const { credentials, position } = await createOrganization(
    opened.bus.sender(opened.log),
    settings,
    "First organization",
  );
  const names = projections.map((projection) => projection.name);
  await createPassed({ hints: opened.bus.hints, db: opened.db })(names, position, 30_000);
  await writeFile(path, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  return credentials;
}

function welcome(settings: Settings, address: string, { api_key, admin, organization_id }: Credentials): string {
  const chat = `${address}/api/openai/v1`;
  const model = settings.OFFLINE_MODELS ? "offline/echo" : "openai/gpt-5-mini";
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  return `
${table([
  ["Chat API", chat],
  ["Reference", `${address}/reference`],
  ["Health", `${address}/readyz`],
  ["Organization", organization_id],
  ["API key", api_key],
  ["Sign in", `${admin.email} with ${admin.password}`],
  ["Kept in", join(settings.DATA_DIR, "credentials.json")],
])}

Try it:
curl ${chat}/chat/completions -H 'authorization: Bearer ${api_key}' -H 'content-type: application/json' -d '${body}'

Ctrl-C stops everything that was started.`;
}

/** Runs roles until a signal comes; `all` also brings the embedded services and the first organization. */
export async function start(which: Role | "all"): Promise<void> {
  const settings = readSettings(process.env);
  const services = await startServices(settings, line);
  const stopping = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  try {
    const addresses = { ...services, master_key: masterKey(settings) };
    const running = await runRoles(which === "all" ? roles : [which], { settings, addresses });
    try {
      if (which === "all")
        process.stdout.write(
          `${welcome(settings, running.address!, await firstCredentials(settings, running.opened))}\n`,
        );
      else line(`${which} is running${running.address ? ` on ${running.address}` : ""}.`);
      await stopping;
      line("Stopping.");
    } finally {
      await running.stop();
    }
  } finally {
    await services.stop();
  }
}
