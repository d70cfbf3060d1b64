ALTER TABLE "webhooks" ADD COLUMN "created_by" uuid;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "created_by" uuid;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhooks_by_creator" ON "webhooks" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "workspaces_by_creator" ON "workspaces" USING btree ("created_by");