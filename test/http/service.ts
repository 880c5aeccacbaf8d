import { randomBytes } from "node:crypto";
import { afterAll, inject } from "vitest";
import { makeOrganization } from "../../cli/organization.ts";
import { runRoles } from "../../roles/run.ts";
import { readSettings } from "#infra/config.ts";
import { testBus, testDatabase, testFolder, testSearch } from "../harness.ts";

export type Service = Awaited<ReturnType<typeof startService>>;

/** The whole service in this process, on a database and a bus of its own, with one organization. It ends with the test file. */
export async function startService(env: Record<string, string> = {}) {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const bus = testBus();
  const search = testSearch();
  const settings = readSettings({ PORT: "0", LOG_LEVEL: "silent", DATA_DIR: folder, BUS_PREFIX: bus.prefix, ...env });
  const running = await runRoles(["http", "services", "projections"], {
    settings,
    addresses: {
      database_url: database.url,
      nats_url: inject("services").nats_url,
      meili_url: search.url,
      meili_master_key: search.master_key,
      master_key: randomBytes(32).toString("base64"),
    },
  });
  afterAll(() => running.stop());
  const { opened } = running;
  const base = running.address!;
  async function organization(name: string) {
    const { db, bus: open, log } = opened;
    const made = await makeOrganization({ sender: open.sender(log), hints: open.hints, db }, settings, name);
    return made.credentials;
  }

  const credentials = await organization("First");
  return { opened, base, chat: `${base}/api/openai/v1`, db: opened.db, organization, credentials, stop: running.stop };
}

/** A client of one credential: `call("POST", "/files", …)` below the chat base, or an absolute address. */
export function clientOf(service: Pick<Service, "chat">, token: string) {
  return async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const form = body instanceof FormData;
    const response = await fetch(path.startsWith("http") ? path : service.chat + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined || form ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: form ? body : typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.startsWith("application/json");
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: json && text ? JSON.parse(text) : undefined,
    };
  };
}

export const say = (text: string, more: Record<string, unknown> = {}) => ({
  model: "offline/echo",
  messages: [{ role: "user", content: text }],
  ...more,
});
