import { Time } from "./Time.tsx";

/** When a thing came to be and was changed, and its id: the same lines of every thing's facts. */
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
