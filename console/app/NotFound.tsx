import { Link } from "@tanstack/react-router";
import { EmptyState } from "../parts/Notices.tsx";

export const NotFound = () => (
  <section className="screen narrow" aria-labelledby="title">
    <h1 id="title">Not found</h1>
    <EmptyState title="There is no such page">
      <p>
        The address may be mistyped. Go <Link to="/">home</Link>, or press Ctrl-K and enter a name or an id.
      </p>
    </EmptyState>
  </section>
);
