import { Link } from "@tanstack/react-router";
import { shortId } from "../format/index.ts";

export const RunLink = ({ id }: { id: string }) => (
  <Link to="/runs/$runId" params={{ runId: id }}>
    run <span className="mono">{shortId(id)}</span>
  </Link>
);
