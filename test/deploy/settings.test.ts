import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { settingNames } from "#infra/config.ts";
import { maxStopMs, roles } from "../../roles/runRoles.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
/** The environment of the anchor that all roles share, by name. */
const environment = (file: string, anchor: string) => {
  const block = new RegExp(`^${anchor}:(?:\\n|.)*?^  environment:\\n((?:    .+\\n)+)`, "m").exec(read(file))![1]!;
  return Object.fromEntries([...block.matchAll(/^ {4}([A-Z_]+): (.+)$/gm)].map(([, name, value]) => [name!, value!]));
};

const SET_BY_IMAGE = ["NODE_ENV", "PORT", "HOST", "DATA_DIR"];
const SET_BY_LAYOUT = ["DATABASE_URL", "NATS_URL", "MEILI_URL"];
const CLUSTER_ONLY = "NATS_REPLICAS";

test("docker-compose.yml passes on every setting, and no other variable", () => {
  const passed = environment("docker-compose.yml", "x-service");
  const wanted = settingNames.filter((name) => ![...SET_BY_IMAGE, CLUSTER_ONLY].includes(name));
  expect(Object.keys(passed).toSorted()).toEqual(wanted.toSorted());
  for (const name of wanted.filter((one) => !SET_BY_LAYOUT.includes(one)))
    expect(passed[name]).toMatch(new RegExp(`^\\$\\{${name}:[-?].*\\}$`));
});

test("each role of docker-compose.yml has a limit of memory, which .env can change, and ends before a database does", () => {
  const file = read("docker-compose.yml");
  const gigabytes = ["http", "services", "projections"].map((role) => {
    const limit = `mem_limit: \\$\\{${role.toUpperCase()}_MEMORY:-(\\d+)g\\}`;
    return Number(new RegExp(`^  ${role}:\\n(?:    .*\\n)*?    ${limit}$`, "m").exec(file)?.[1]);
  });
  // Node's heap takes half of it at most, and its default is 2 GiB
  for (const limit of gigabytes) expect(limit).toBeGreaterThanOrEqual(4);
  expect(file.match(/^x-service:(?:\n|.)*?^services:/m)![0]).toContain("oom_score_adj: 500");
});

test("docker-compose.yml lets each role stop before it is killed, also while PostgreSQL is silent", () => {
  const grace_s = Number(
    /^x-service:.*\n(?:  .*\n)*?  stop_grace_period: (\d+)s$/m.exec(read("docker-compose.yml"))?.[1],
  );
  for (const role of roles) expect(grace_s * 1_000, role).toBeGreaterThan(maxStopMs([role]));
});

test("deploy/scale.yml sets only the addresses and replicas of its layout, and lets TRUST_PROXY be overridden", () => {
  const { NATS_URL, NATS_REPLICAS, TRUST_PROXY, ...others } = environment("deploy/scale.yml", "x-scaled");
  expect([NATS_URL, NATS_REPLICAS, TRUST_PROXY, others]).toEqual([
    expect.stringContaining("nats-3:4222"),
    '"3"',
    expect.stringMatching(/^\$\{TRUST_PROXY:-.+\}$/),
    {},
  ]);
});
