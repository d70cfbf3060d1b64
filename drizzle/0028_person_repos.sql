CREATE TABLE "person_repos" (
	"user_id" uuid NOT NULL,
	"repo_key" text NOT NULL,
	"name" text NOT NULL,
	"repo" text NOT NULL,
	"seen_day" date NOT NULL,
	CONSTRAINT "person_repos_user_id_repo_key_pk" PRIMARY KEY("user_id","repo_key")
);
--> statement-breakpoint
CREATE INDEX "person_repos_by_name" ON "person_repos" USING btree ("user_id","name");--> statement-breakpoint
CREATE INDEX "person_repos_by_age" ON "person_repos" USING btree ("seen_day");