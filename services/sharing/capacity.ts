export interface CapacityLimits {
  total: number;
  perTenant: number;
}

/**
 * Counts work in progress, or the bytes it holds, against a total limit and a limit per tenant. It only counts: `take` neither
 * waits nor refuses. For work that must wait for room, see fairSemaphore.ts.
 */
export function createCapacity({ total, perTenant }: CapacityLimits) {
  const byTenant = new Map<string, number>();
  let taken = 0;

  const usedBy = (tenant: string): number => byTenant.get(tenant) ?? 0;
  function releaseTenant(tenant: string, amount = 1): void {
    if (usedBy(tenant) > amount) byTenant.set(tenant, usedBy(tenant) - amount);
    else byTenant.delete(tenant);
  }

  return {
    isFull: (): boolean => taken >= total,
    hasRoom: (tenant: string, amount = 1): boolean => taken + amount <= total && usedBy(tenant) + amount <= perTenant,
    take(tenant: string, amount = 1): void {
      taken += amount;
      byTenant.set(tenant, usedBy(tenant) + amount);
    },
    release(tenant: string, amount = 1): void {
      taken -= amount;
      releaseTenant(tenant, amount);
    },
    /** Frees one unit for other tenants while its own tenant still counts it; `releaseLent` ends the loan. */
    lend: (): void => void (taken -= 1),
    releaseLent: (tenant: string): void => releaseTenant(tenant),
  };
}
