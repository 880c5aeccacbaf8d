import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { getCollection, type Collection } from "../../api/knowledge.ts";
import { listSources, type PageResult } from "../../api/sources.ts";
import { useRole } from "../../api/useRole.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { NewSource } from "./NewSource.tsx";
import { SourceCard } from "./SourceCard.tsx";
import "./knowledge.css";

const route = getRouteApi("/knowledge/$collection/sources");

export interface SourcesSearch {
  /** The source whose pages are open. */
  source?: string | undefined;
  result?: PageResult | undefined;
  page?: number | undefined;
}

function Details({ collection: { slug, name } }: { collection: Collection }) {
  const { source } = route.useSearch();
  const { mayWrite } = useRole();
  return (
    <>
      <h1>Sources of {name}</h1>
      <QueryResult query={useQuery(listSources(slug))} what="sources">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="There are no sources yet">
              <p>A source reads pages of the web into this collection, and keeps them up to date.</p>
            </EmptyState>
          ) : (
            <ul className="plain stack">
              {data.map((one) => (
                <SourceCard key={one.id} source={one} collection={slug} isOpen={one.id === source} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {mayWrite && <NewSource collection={slug} />}
    </>
  );
}

/** The sources of a collection's documents. */
export function Sources() {
  const { collection: reference } = route.useParams();
  const back = (
    <Link to="/knowledge/$collection" params={{ collection: reference }}>
      ← Documents
    </Link>
  );
  return (
    <ThingScreen back={back} query={useQuery(getCollection(reference))} kind="Collection">
      {(data) => <Details key={data.id} collection={data} />}
    </ThingScreen>
  );
}
