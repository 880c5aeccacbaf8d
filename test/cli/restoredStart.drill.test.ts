import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { change, named } from "../log/log.ts";
import { openCommandLine } from "./svc.ts";

test("a start with existing organizations and a new data folder creates no organization, and says where to sign in", async () => {
  const cli = await openCommandLine();
  const pool = openPool(cli.database.url, { max: 1, name: "restored" });
  const { stream, event } = named("Restored");
  await openLog(pool, openKeyring(cli.key)).append(change(stream, { event }));
  const running = cli.start("all");
  const ended = once(running, "exit");
  let said = "";
  for await (const line of createInterface(running.stdout)) {
    said += `${line}\n`;
    if (line.startsWith("Ctrl-C")) break;
  }
  expect(said).toMatch(/^Console +http\S+\/console\/$/m);
  expect(said).toContain("The database has organizations already, and ");
  expect(said).not.toContain("API key");
  const { rows } = await pool.query("select stream from log.events where type = 'OrganizationCreated'");
  expect(rows).toEqual([{ stream }]);
  running.kill();
  await Promise.all([ended, pool.end()]);
});
