-- Adds links that no page is settled with.
end_leases()
return finish(add_all(FIRST_ARGUMENT))
