import { JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { addConsumer } from "./addConsumer.ts";

const SPEC = { durable_name: "services" };

/** A server that refuses consumers on its disk with this code. */
function refusing(code: number) {
  const error = new JetStreamApiError({ code: 500, err_code: code, description: "refused" });
  const add = async (_: string, config: { mem_storage?: boolean }) => {
    if (!config.mem_storage) throw error;
    return { config };
  };
  return { error, jsm: { consumers: { add } } as unknown as JetStreamManager };
}

test("a consumer whose file cannot be read is created in memory, which is reported", async () => {
  const { error, jsm } = refusing(10_012);
  const reports: unknown[] = [];
  const { config } = await addConsumer(jsm, "COMMANDS", SPEC, (refusal) => reports.push(refusal));
  expect(config).toEqual({ ...SPEC, mem_storage: true });
  expect(reports).toEqual([error]);
});

test("a consumer that is refused for another reason is not created", async () => {
  const { error, jsm } = refusing(10_059);
  await expect(addConsumer(jsm, "COMMANDS", SPEC)).rejects.toBe(error);
});
