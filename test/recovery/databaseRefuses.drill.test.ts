import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, test } from "vitest";
import { expectSound, startLoad } from "../faults/load.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { administer, freshName } from "../template.ts";

/* PostgreSQL runs and answers, but refuses: what an operator, a failover or a cloud does to it. Its end needs no hand either. */

/** Longer than a message that fails for another reason needs to reach the dead letters. */
const REFUSING_MS = 6_000;
const TOLD_MS = 5_000;
const BACK_MS = 15_000;

interface Refusal {
  begin(database: string, user: string): string[];
  end(database: string, user: string): string[];
  /** The answer of `/readyz` in the meantime. */
  detail: string;
}

const REFUSALS: Record<string, Refusal> = {
  "is read-only, as a standby is, or a database in the cloud whose disk is full": {
    begin: (database) => [`alter database ${database} set default_transaction_read_only = on`],
    end: (database) => [`alter database ${database} reset default_transaction_read_only`],
    detail: "read-only",
  },
  "has another password": {
    begin: (_, user) => [`alter role ${user} password 'another'`],
    end: (_, user) => [`alter role ${user} password 'secret'`],
    detail: "refuses the password",
  },
  "takes no connections": {
    begin: (database) => [`alter database ${database} allow_connections false`],
    end: (database) => [`alter database ${database} allow_connections true`],
    detail: "the error 55000",
  },
};

test.each(Object.entries(REFUSALS))(
  "while PostgreSQL %s, requests are 503 and /readyz gives the reason; afterwards everything works, and there is no dead letter",
  async (_, { begin, end, detail }) => {
    const admin = inject("services").database_url;
    const run = async (statements: string[]) => {
      for (const statement of statements) await administer(admin, statement);
    };
    const [deployment, user] = [await testDeployment(), freshName("user")];
    const url = new URL(deployment.addresses.database_url);
    const database = url.pathname.slice(1);
    await run([`create role ${user} superuser login password 'secret'`]);
    Object.assign(url, { username: user, password: "secret" });
    const platform = await startPlatform({
      deployment: { ...deployment, addresses: { ...deployment.addresses, database_url: url.href } },
    });
    const { api_key } = await platform.organization();
    const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
    const readyz = async () => (await fetch(`${platform.url}/readyz`)).text();
    const load = startLoad([platform.url], api_key, 3);
    await load.more(3);

    // open connections keep their old rights, so they are closed
    const sessions = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`;
    await run([...begin(database, user), sessions]);
    await expect.poll(readyz, { timeout: TOLD_MS }).toContain(detail);
    const refused = await call("POST", "/chat/completions", say("Hello"));
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
    await sleep(REFUSING_MS);

    await run([...end(database, user), sessions]);
    const ask = async () => (await call("POST", "/chat/completions", say("Hello"))).status;
    await expect.poll(ask, { timeout: BACK_MS }).toBe(200);
    await load.more(3);
    const { streams } = await platform.resources.bus.health();
    expect(Object.entries(streams).find(([name]) => name.endsWith("_DEAD"))![1]!.messages).toBe(0);
    await expectSound(platform.resources, await load.stop());
  },
);
