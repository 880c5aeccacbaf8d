import type { Principal } from "#events/envelope.ts";
import type { SessionRow } from "#projections/sessions/query.ts";

/** The authenticated sender of a request. */
export interface Caller {
  organization_id: string;
  /** The owner of the caller's threads and files. */
  principal: Principal;
  /** Null: all models of the organization. */
  allowed_models: string[] | null;
  products: string[];
  /** Whether completions may contain tools of the caller's own. Absent: no. */
  client_tools?: boolean;
  /** The key's project: it reaches only that project's agents, workflows, runs and approvals. Null: everything in the organization. */
  project_id: string | null;
  /** Set when a person signed in. */
  session: SessionRow | undefined;
  /** Whether the session came in a cookie rather than as a bearer token. */
  by_cookie?: boolean;
}

/**
 * Whether a caller may access a thing of this project, or of none. What it may not access is answered like something that does
 * not exist.
 */
export const reachesProject = (caller: Pick<Caller, "project_id">, project_id: string | null): boolean =>
  caller.project_id === null || caller.project_id === project_id;

declare module "fastify" {
  interface FastifyRequest {
    /** Set on every route that requires a credential. */
    caller: Caller;
    /** Authenticates the caller again. Throws what the route's own authentication would throw. */
    recheckCredential: (() => Promise<void>) | undefined;
    /** Adds headers to the answer. */
    addHeaders: (headers: Record<string, string>) => void;
  }
}
