import { execFileSync } from "node:child_process";
import { appendFileSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { preparePostgres, type PostgresInstallation } from "#infra/embedded/postgresInstallation.ts";
import { afterTest } from "../cleanUp.ts";
import { expectSound, startLoad } from "../faults/load.ts";
import { testDataFolder } from "../harness.ts";
import { openReader } from "../knowledge/library.ts";
import { startPlatform, type Deployment } from "../platform.ts";
import { svcOn } from "./svc.ts";

/* docs/operating.md, Point-in-time recovery, with PostgreSQL's own programs: initdb, postgres, and no pg_basebackup. */

const QUESTION = { query: "How many days may I work from home?" };
const MASTER_KEY = Buffer.alloc(32, 5).toString("base64");

/** Servers on a data folder, as a deployment. */
async function startServers(folder: string) {
  const services = await startEmbeddedServers({ DATA_DIR: folder }, () => {});
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= services.stop());
  afterTest(stop);
  const deployment: Deployment = { addresses: { ...services, master_key: MASTER_KEY }, prefix: "point", folder };
  return { deployment, url: services.database_url, stop };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  afterTest(() => client.end().catch(() => {}));
  return client;
}

const clusterOf = ({ data }: PostgresInstallation): string => join(data, "18");
const copy = (from: string, to: string) => execFileSync("cp", ["-a", from, to]);

/** Archives every WAL segment. Needs a restart. */
async function archive(url: string, folder: string, { user }: PostgresInstallation): Promise<void> {
  mkdirSync(folder);
  if (user) chownSync(folder, user.uid, user.gid);
  const client = await connect(url);
  await client.query("alter system set archive_mode = on");
  await client.query(`alter system set archive_command = 'test ! -f ${folder}/%f && cp %p ${folder}/%f'`);
  await client.end();
}

/** A base backup of a running server, without pg_basebackup: the session stays open from its start to its end. */
async function backUpBase(url: string, home: PostgresInstallation, to: string): Promise<void> {
  const client = await connect(url);
  await client.query("select pg_backup_start('base', true)");
  copy(clusterOf(home), to);
  const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop()");
  rmSync(join(to, "postmaster.pid"), { force: true });
  rmSync(join(to, "pg_wal"), { recursive: true });
  mkdirSync(join(to, "pg_wal"), { mode: 0o700 });
  writeFileSync(join(to, "backup_label"), rows[0]!.labelfile);
  await client.end();
}

/** Waits until everything that was written is in the archive. */
async function finishArchive(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ segment: string }>("select pg_walfile_name(pg_switch_wal()) as segment");
  const archived = async () =>
    (await client.query("select last_archived_wal from pg_stat_archiver")).rows[0].last_archived_wal >=
    rows[0]!.segment;
  await expect.poll(archived).toBe(true);
}

/** A data folder whose PostgreSQL recovers to that time when it starts. */
function prepareRecovery(
  folder: string,
  { base, password, archived, until }: { base: string; password: string; archived: string; until: string },
): void {
  copy(password, join(folder, "postgres.password"));
  const home = preparePostgres(folder, () => {});
  const cluster = clusterOf(home);
  copy(base, cluster);
  appendFileSync(
    join(cluster, "postgresql.auto.conf"),
    `restore_command = 'cp ${archived}/%f %p'\nrecovery_target_time = '${until}'\nrecovery_target_action = 'promote'\narchive_mode = off\n`,
  );
  writeFileSync(join(cluster, "recovery.signal"), "");
  if (home.user) execFileSync("chown", ["-R", `${home.user.uid}:${home.user.gid}`, cluster]);
}

test("a base backup and archived WAL restore the service to the moment before an accident", async () => {
  const folder = await testDataFolder();
  const archived = join(folder, "archive");
  const home = preparePostgres(folder, () => {});
  const first = await startServers(folder);
  await archive(first.url, archived, home);
  await first.stop();

  const live = await startServers(folder);
  const before = await startPlatform({ deployment: live.deployment });
  const credentials = await before.organization();
  const base = join(await testDataFolder(), "base");
  await backUpBase(live.url, home, base);
  const library = openReader(before.url, credentials.api_key);
  const collection = await library.collect("Handbook");
  const content = readFileSync(new URL("../../examples/handbook.docx", import.meta.url));
  expect((await library.keep(collection, { content, name: "handbook.docx" })).status).toBe("ready");
  const load = startLoad([before.url], credentials.api_key, 2);
  await load.more(10);
  const requests = await load.stop();
  await expectSound(before.resources, requests);
  const found = (await library.search(QUESTION)).body;
  const blobs = join(await testDataFolder(), "blobs");
  copy(join(folder, "blobs"), blobs);
  const { position, hash } = JSON.parse(await svcOn(live.deployment, "log", "verify", "--json"));
  const client = await connect(live.url);
  const { rows } = await client.query<{ until: string }>("select clock_timestamp()::text as until");

  // the accident
  await library.call("DELETE", `/collections/${collection}`);
  await finishArchive(client);
  await before.stop();
  await live.stop();

  const place = await testDataFolder();
  prepareRecovery(place, { base, password: join(folder, "postgres.password"), archived, until: rows[0]!.until });
  copy(blobs, join(place, "blobs"));
  const restored = await startServers(place);
  const again = await connect(restored.url);
  const isRecovering = async () => (await again.query("select pg_is_in_recovery() as is")).rows[0].is;
  await expect.poll(isRecovering).toBe(false);
  await svcOn(restored.deployment, "log", "verify", "--expect", `${position}:${hash}`);
  const after = await startPlatform({ deployment: restored.deployment });
  expect((await again.query("select position from log.head")).rows[0].position).toBe(String(position));
  const reader = openReader(after.url, credentials.api_key);
  await expect.poll(async () => (await reader.search(QUESTION)).body).toEqual(found);
  await expectSound(after.resources, requests);
});
