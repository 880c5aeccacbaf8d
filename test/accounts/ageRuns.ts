import type { Db } from "#projections/projection.ts";
import type { Tenant } from "../workflows/tenant.ts";

/** Makes a tenant's runs three days older. A preview waits until the read models have the ends that the log has. */
export async function ageRuns(db: Db, { made, owner, organization_id }: Tenant): Promise<void> {
  await made(owner("POST", "/retention/organization/preview", { runs: "2d" }));
  await db.query(
    `update read.runs set completed_at = completed_at - interval '3 days', created_at = created_at - interval '3 days'
     where organization_id = $1`,
    [organization_id],
  );
}
