import type { FastifyRequest } from "fastify";

/** The fields that every command for a request has. */
export const commandFields = ({ caller, id }: FastifyRequest, stream: string, waitFor: string[] = []) => ({
  stream,
  organization_id: caller.organization_id,
  principal: caller.principal,
  request_id: id,
  waitFor,
});
