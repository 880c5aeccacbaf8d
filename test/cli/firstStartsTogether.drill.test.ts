import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { credentialsFile } from "../../cli/credentials.ts";
import type { Credentials } from "../../cli/organization.ts";
import { agentClient } from "../agents/agents.ts";
import { afterTest } from "../cleanUp.ts";
import { openCommandLine } from "./svc.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));

/** A process with every role. `welcome` resolves with what it prints for its operator. */
function startAll(env: Record<string, string>) {
  const child = spawn(process.execPath, [main, "all"], { env, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  afterTest(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const read = async () => {
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (line.startsWith("Ctrl-C")) break;
    }
    return lines;
  };
  return { ended, welcome: read() };
}

/** The one organization of a deployment, whose credentials are saved and work. */
async function expectOneOrganization(cli: Awaited<ReturnType<typeof openCommandLine>>): Promise<Credentials> {
  const folder = cli.env["DATA_DIR"]!;
  const { stdout } = await cli.svc("log", "tail", "--type", "OrganizationCreated", "--json");
  const created = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).organization_id);
  const saved = JSON.parse(readFileSync(credentialsFile({ DATA_DIR: folder }), "utf8")) as Credentials;
  expect(created).toEqual([saved.organization_id]);
  expect(existsSync(join(folder, "first-organization.json"))).toBe(false);
  const { status } = await agentClient(saved.base_url, saved.api_key, saved.agent_id).ask("Hello");
  expect(status).toBe("completed");
  return saved;
}

test("two simultaneous first starts on one database and folder create one organization", async () => {
  const cli = await openCommandLine();
  const welcomes = await Promise.all([startAll(cli.env).welcome, startAll(cli.env).welcome]);
  const { organization_id } = await expectOneOrganization(cli);
  for (const lines of welcomes) expect(lines.join("\n")).toContain(organization_id);
});

test("a first start that is killed while it creates the organization is completed by the next one", async () => {
  const cli = await openCommandLine();
  const killed = startAll({ ...cli.env, FAIL_AT: "after-OrganizationCreated:1" });
  await killed.ended;
  expect(existsSync(credentialsFile({ DATA_DIR: cli.env["DATA_DIR"]! }))).toBe(false);
  await startAll(cli.env).welcome;
  await expectOneOrganization(cli);
});
