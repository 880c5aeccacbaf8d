import { CreateKey } from "../../../events/key.ts";
import { CreateOrganization } from "../../../events/organization.ts";
import { newId, streamName } from "../../../events/ids.ts";
import { newSecret } from "../../../http/auth/secrets.ts";
import { sendTo, type Send } from "../../../services/send.ts";
import type { Target } from "../chat/askQuestion.ts";
import { load } from "../chat/load.ts";
import { openDirectHandler } from "../tools/directHandler.ts";
import { progress } from "../tools/progress.ts";
import type { Service } from "../tools/service.ts";
import { medianRatio } from "../tools/stats.ts";

const IN_FLIGHT = 64;
const ROUNDS = 3;
const SECONDS = 3;
const CONNECTIONS = 32;

/** Creates an organization with a key, which it returns. */
const createOrganization = async (send: Send): Promise<string> => {
  const [organization_id, key_id] = [newId(), newId()];
  const key = newSecret("sk", "svc");
  const created = await send(
    { stream: streamName("organization", organization_id), organization_id },
    CreateOrganization.type,
    {
      organization_id,
      name: "Bench",
    },
  );
  const keyed = await send({ stream: streamName("key", key_id), organization_id }, CreateKey.type, {
    key_id,
    key_hash: key.hash,
    key_hint: key.hint,
    project_id: null,
    name: "Bench",
    products: [],
    expires_at: null,
    enabled: true,
    allowed_models: null,
  });
  for (const { rejection } of [created, keyed]) if (rejection) throw new Error(rejection.message);
  return key.secret;
};

const createOrganizations = async (service: Service, database_url: string, count: number): Promise<string[]> => {
  const { handle, close } = await openDirectHandler(service.dataDir, database_url);
  const send = sendTo(handle, "bench");
  const keys: string[] = [];
  const left = Array.from({ length: count }).values();
  const lane = async (): Promise<void> => {
    for (const _ of left) keys.push(await createOrganization(send));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  await close();
  return keys;
};

/** Turns per second of many organizations that ask in turn, relative to those of one organization. */
export const measureOrganizations = async (
  service: Service,
  database_url: string,
  target: Target,
  count: number,
): Promise<number> => {
  progress(`creating ${count} organizations`);
  const keys = await createOrganizations(service, database_url, count);
  let next = 0;
  const everybody: Target = {
    ...target,
    get headers() {
      return { authorization: `Bearer ${keys[next++ % keys.length]}` };
    },
  };
  // Once the last key works, the read models have all of them.
  await service.until("the organizations' keys", 50, async () => {
    const { data } = await service.callAs(keys.at(-1)!)("GET", "/api/openai/v1/models", undefined, [200, 401]);
    return data;
  });
  const rates: Record<"one" | "many", number[]> = { one: [], many: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, who] of [
      ["one", target],
      ["many", everybody],
    ] as const) {
      progress(`round ${round + 1} of ${ROUNDS}: turns of ${name}`);
      rates[name].push((await load(who, { connections: CONNECTIONS, stream: false, seconds: SECONDS })).perSecond);
    }
  return medianRatio(rates.many, rates.one);
};
