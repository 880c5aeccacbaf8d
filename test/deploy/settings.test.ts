import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { settingNames } from "#infra/config.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
/** What the anchor that every role shares sets, by name. */
const environment = (file: string, anchor: string) => {
  const block = new RegExp(`^${anchor}:(?:\\n|.)*?^  environment:\\n((?:    .+\\n)+)`, "m").exec(read(file))![1]!;
  return Object.fromEntries([...block.matchAll(/^ {4}([A-Z_]+): (.+)$/gm)].map(([, name, value]) => [name!, value!]));
};

const OF_THE_IMAGE = ["NODE_ENV", "PORT", "HOST", "DATA_DIR"];
const OF_THE_LAYOUT = ["DATABASE_URL", "NATS_URL", "MEILI_URL"];
const ONE_SERVER = "NATS_REPLICAS";

test("docker-compose.yml passes on every setting that there is, and no other", () => {
  const passed = environment("docker-compose.yml", "x-service");
  const wanted = settingNames.filter((name) => ![...OF_THE_IMAGE, ONE_SERVER].includes(name));
  expect(Object.keys(passed).toSorted()).toEqual(wanted.toSorted());
  for (const name of wanted.filter((one) => !OF_THE_LAYOUT.includes(one)))
    expect(passed[name]).toMatch(new RegExp(`^\\$\\{${name}:[-?].*\\}$`));
});

test("deploy/scale.yml changes what its layout is, and takes the proxy's networks from who knows them", () => {
  const { NATS_URL, NATS_REPLICAS, TRUST_PROXY, ...others } = environment("deploy/scale.yml", "x-scaled");
  expect([NATS_URL, NATS_REPLICAS, TRUST_PROXY, others]).toEqual([
    expect.stringContaining("nats-3:4222"),
    '"3"',
    expect.stringMatching(/^\$\{TRUST_PROXY:-.+\}$/),
    {},
  ]);
});
