import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { countRunValues } from "#infra/postgres/logBytes.ts";
import { watchLogLimits } from "#infra/postgres/logLimits.ts";
import { fixture } from "../projections/fixture.ts";

test("an organization whose runs keep too many values is refused until some are destroyed, and nobody else", async () => {
  const f = await fixture();
  await f.runner().start();
  const [run, other] = [newId(), newId()];
  const put = (run_id: string, organization: string, position: number, bytes: number) =>
    f.pool.query("insert into read.run_values (run_id, position, organization_id, bytes) values ($1, $2, $3, $4)", [
      run_id,
      position,
      organization,
      bytes,
    ]);
  const settings = { ORGANIZATION_LOG_MEGABYTES: 1, ORGANIZATION_MEGABYTES: 1 };
  const logger = { warn: () => {}, info: () => {} };
  const watch = watchLogLimits({ db: f.db, settings, logger });
  const look = async () => {
    await countRunValues(f.db);
    await watch.look();
    return [f.organization, other].map((organization) => watch.refusal(organization)?.message);
  };
  await put(run, f.organization, 1, 600_000);
  await put(newId(), f.organization, 2, 400_000);
  await put(newId(), other, 3, 1_000);
  expect(await look()).toEqual([undefined, undefined]);
  await put(run, f.organization, 4, 1);
  expect(await look()).toEqual([expect.stringContaining("ORGANIZATION_MEGABYTES"), undefined]);
  await f.pool.query("delete from read.run_values where run_id = $1", [run]);
  expect(await look()).toEqual([undefined, undefined]);
  await f.pool.query("delete from read.run_values");
  await look();
  expect((await f.pool.query("select sum(value_bytes)::int as bytes from ops.log_bytes")).rows).toEqual([{ bytes: 0 }]);
  await watch.stop();
});
