#include "ops/ref/fn_quotient.h"

#define TW_FAMILY_quotient ~, TW_THIS_ROW
#define TW_ADD_FAMILY add_quotient
#include "ops/ref/family.inc"
