import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { newId, streamName } from "#events/ids.ts";
import { RotateTrigger, SetSigningSecret } from "#events/trigger.ts";
import type { TriggerRow } from "#projections/triggers/query.ts";
import { newSecret } from "../auth/secrets.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { identifyPost, rotateOnce, type IdempotentRequest } from "../base/idempotency.ts";
import { signingPurpose } from "./hookAuth.ts";
import { readTrigger } from "./presentTriggers.ts";
import type { RotateTriggerBody, Trigger, TriggerWithSecret } from "./triggerShape.ts";

export const triggerCommand = (request: FastifyRequest, trigger_id: string) =>
  commandFields(request, streamName("trigger", trigger_id), ["triggers"]);

/** Seals the sender's secret for a command. */
export const sealSigning = (
  { keyring }: Pick<Http, "keyring">,
  { caller }: FastifyRequest,
  trigger_id: string,
  secret: string,
) => ({
  credential_id: newId(),
  sealed_secret: keyring.sealSecret(signingPurpose(caller.organization_id, trigger_id), secret),
});

/** Replaces the secret that the sender signs with. */
async function replaceSigningSecret(
  http: Http,
  request: FastifyRequest,
  { id: trigger_id, workflow_id, verify }: TriggerRow,
  identity: IdempotentRequest,
  secret: string,
): Promise<z.infer<typeof Trigger>> {
  if (!verify)
    throw new ApiError("invalid_verify", "verify: the trigger has no sender that signs; create one with `verify`.", {
      param: "verify",
    });
  const data = { trigger_id, ...sealSigning(http, request, trigger_id, secret) };
  await http.send(SetSigningSecret, {
    ...triggerCommand(request, trigger_id),
    ...identity,
    data,
    requireProjected: true,
  });
  return readTrigger(http, workflow_id, trigger_id);
}

/** Replaces the sender's secret when the body has one, else the trigger's own. The old one stops working at once. */
export async function rotateTrigger(
  http: Http,
  request: FastifyRequest,
  row: TriggerRow,
  body: z.infer<typeof RotateTriggerBody>,
): Promise<z.infer<typeof TriggerWithSecret>> {
  const { id: trigger_id, workflow_id } = row;
  const identity = identifyPost(request, `/api/workflows/${workflow_id}/triggers/${trigger_id}/rotate`);
  if (body?.verify) return replaceSigningSecret(http, request, row, identity, body.verify.secret);
  const { secret, hash, hint } = newSecret("whsec", http.settings.SERVICE_NAME);
  const data = { trigger_id, secret_hash: hash, secret_hint: hint };
  const command = { ...triggerCommand(request, trigger_id), ...identity, data };
  const isOwn = await rotateOnce(http, RotateTrigger, command, "secret_hash");
  const trigger = await readTrigger(http, workflow_id, trigger_id);
  return isOwn ? { ...trigger, secret } : trigger;
}
