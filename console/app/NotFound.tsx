import { Link } from "@tanstack/react-router";
import { Empty } from "../parts/Notices.tsx";

export const NotFound = () => (
  <Empty title="There is no such page">
    <p>
      Go to the <Link to="/inbox">inbox</Link> or to the <Link to="/runs">runs</Link>.
    </p>
  </Empty>
);
