import { pino } from "pino";
import { z } from "zod";
import { expect, test } from "vitest";
import { newCommandId, newId, streamName } from "#events/ids.ts";
import { connectBus } from "#infra/nats/connect.ts";
import { namesFor } from "#infra/nats/names.ts";
import { connect } from "@nats-io/transport-node";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { change, named } from "../log/log.ts";
import { openCommandLine, json } from "./svc.ts";

/** The log of an organization that has only been created. Answers with its id. */
async function addOrganization(url: string): Promise<string> {
  const pool = openPool(url, { max: 1, name: "founder" });
  const { stream, event } = named("Listened to");
  await openLog(pool, openKeyring(Buffer.alloc(32, 7))).append(change(stream, { event }));
  await pool.end();
  return stream.replace("organization-", "");
}

test("svc dead lists dead letters without their content, and replays and removes them", async () => {
  const cli = await openCommandLine();
  const bus = await connectBus({
    url: cli.bus.url,
    prefix: cli.bus.prefix,
    name: "test",
    log: pino({ level: "silent" }),
  });
  expect((await cli.svc("dead", "list")).stdout).toBe("There are no dead letters.\n");

  const names = namesFor(cli.bus.prefix);
  const organization_id = newId();
  const { stack } = z.object({ model: z.string(), n: z.array(z.int()) }).safeParse({ n: ["\n]"] }).error!;
  const errors = ["Error: boom\n    at here", `${stack}\n    at here`];
  const commands = ["one", "two"].map((text) => ({
    id: newCommandId(),
    type: "StartTurn",
    stream: streamName("thread", newId()),
    organization_id,
    data: { text },
  }));
  const { username, password, host } = new URL(cli.bus.url);
  const nc = await connect({ servers: host, ...(username ? { user: username, pass: password } : {}) });
  for (const [n, command] of commands.entries()) {
    const subject = names.command(command);
    nc.publish(names.dead(subject), JSON.stringify({ reason: "failed too often", error: errors[n], subject, command }));
  }
  await nc.flush();

  const listed = json(await cli.svc("dead", "list", "--json"));
  expect(listed.map(({ seq, type, stream }: any) => ({ seq, type, stream }))).toEqual(
    commands.map(({ type, stream }, n) => ({ seq: n + 1, type, stream })),
  );
  expect(JSON.stringify(listed)).not.toContain('"text"');
  const { stdout, stderr } = await cli.svc("dead", "list", "--limit", "1");
  expect(stderr).toBe("These are the oldest ones: there may be more, see --limit.\n");
  expect(stdout).toContain("failed too often  Error: boom\n");
  const { stdout: both } = await cli.svc("dead", "list");
  expect(both).toMatch(/failed too often {2}model: Invalid input.*; n\.0: Invalid input.*\n$/);
  expect((await cli.svc("doctor", "--json")).stdout).toContain("svc dead list shows them");

  expect(await cli.svc("dead", "remove", "2")).toMatchObject({ code: 0, stdout: "Dead letter 2 was removed.\n" });
  expect(await cli.svc("dead", "replay", "1")).toMatchObject({ code: 0 });
  expect((await bus.health()).streams[names.streams.commands]?.messages).toBe(1);
  expect(await cli.svc("dead", "replay", "1")).toMatchObject({
    code: 1,
    stderr: "There is no dead letter 1: svc dead list shows their numbers.\n",
  });
  await nc.close();
  await bus.close();
});

test("svc feed add creates a listener's consumer once, and refuses invalid names and unknown organizations", async () => {
  const cli = await openCommandLine();
  const organization = await addOrganization(cli.database.url);
  for (const id of [organization, organization.toUpperCase()])
    expect(await cli.svc("feed", "add", "billing", id)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`^The consumer billing of \\S+_EVENTS receives the events of ${organization}\\.`),
    });
  expect(await cli.svc("feed", "add", "a.b", organization)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('"a.b" cannot be a consumer'),
  });
  expect(await cli.svc("feed", "add", "billing", "everybody")).toMatchObject({ code: 1 });
  const nobody = newId();
  expect(await cli.svc("feed", "add", "billing", nobody)).toMatchObject({
    code: 1,
    stderr: `No organization has the id ${nobody}: svc log tail --type OrganizationCreated shows the ids of all of them.\n`,
  });
});
