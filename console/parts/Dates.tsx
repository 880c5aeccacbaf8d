import { Time } from "./Time.tsx";

/** The facts that every item has: created, changed, id. */
export const Dates = ({
  id,
  created,
  changed,
  began = "Created",
}: {
  id: string;
  created: string;
  changed: string;
  began?: string;
}) => (
  <>
    <dt>{began}</dt>
    <dd>
      <Time at={created} />
    </dd>
    <dt>Changed</dt>
    <dd>
      <Time at={changed} />
    </dd>
    <dt>Id</dt>
    <dd className="mono">{id}</dd>
  </>
);
