import type { Principal } from "#events/envelope.ts";
import type { SessionRow } from "#projections/sessions/query.ts";

/** The sender of a request, from its credential. */
export interface Caller {
  organization_id: string;
  /** Owns threads and files. */
  principal: Principal;
  /** Null: all models of the organization. */
  allowed_models: string[] | null;
  products: string[];
  /** Whether completions may pass tools of the caller's own; absent: no. */
  client_tools?: boolean;
  /** A project's key reaches the agents, workflows, runs and approvals of that project only; null: all of the organization. */
  project_id: string | null;
  /** Set when a person signed in. */
  session: SessionRow | undefined;
  /** The session came in a cookie, not as a bearer token. */
  by_cookie?: boolean;
}

/** Whether a caller reaches what belongs to a project, or to none. What it does not reach is answered like what does not exist. */
export const reachesProject = (caller: Pick<Caller, "project_id">, project_id: string | null): boolean =>
  caller.project_id === null || caller.project_id === project_id;

declare module "fastify" {
  interface FastifyRequest {
    /** Set on every route that requires a credential. */
    caller: Caller;
    /** Authenticates the caller again. Throws what the route's own authentication would throw now. */
    recheckCredential: (() => Promise<void>) | undefined;
    /** Adds headers to the answer. */
    addHeaders: (headers: Record<string, string>) => void;
  }
}
